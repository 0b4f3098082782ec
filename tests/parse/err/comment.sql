SELECT 1;
SELECT 2 /* never closed
; SELECT 3;
