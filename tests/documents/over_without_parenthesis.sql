SELECt bidtime, price, item,supplier_id,
  max(price) OVER 
    PARTITION BY item 
    ORDER BY bidtime
    ROWS BETWEEN 5 PRECEDING AND CURRENT ROW
  ) AS max_price
 FROM Bid;
