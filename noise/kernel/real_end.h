/* Ends what real_begin.h began: undefines the parameter and all macros. */
#undef REAL_IS_FLOAT
#undef REAL
#undef REAL_NAME
#undef REAL_MEMBER
#undef REAL_FMA
#undef REAL_SQRT
#undef REAL_ABS
