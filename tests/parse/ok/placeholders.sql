CREATE TABLE ${env}_orders (a INT) WITH ('topic' = 'orders-${env}', 'n' = '${ n }');
INSERT INTO db_${env}.sink SELECT a, ${limit} FROM {{ ref('orders') }} WHERE b > ${limit} AND c = '{{ d }}' LIMIT ${limit};
-- ${not_counted}
