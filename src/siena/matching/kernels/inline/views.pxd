# Arrays as pointers to their first item.  Tables may be mapped from files that nobody
# may write to, hence ``const``.
cdef inline int *ints(const int[::1] view):
    return <int *>&view[0]

cdef inline unsigned char *octets(const unsigned char[::1] view):
    return <unsigned char *>&view[0]

cdef inline unsigned short *shorts(const unsigned short[::1] view):
    return <unsigned short *>&view[0]

cdef inline long long *longs(const long long[::1] view):
    return <long long *>&view[0]

cdef inline unsigned long long *words(const unsigned long long[::1] view):
    return <unsigned long long *>&view[0]

cdef inline double *doubles(const double[::1] view):
    return <double *>&view[0]
