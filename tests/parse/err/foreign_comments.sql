# a comment
SELECT a, # first
  b # second
FROM t;
