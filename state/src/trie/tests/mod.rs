mod scheme;
