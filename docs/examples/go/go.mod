module read_digits

go 1.18
