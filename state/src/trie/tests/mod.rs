mod lanes;
mod scheme;
