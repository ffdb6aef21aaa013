alter table token rename to key;
