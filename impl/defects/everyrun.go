package defects

// Defects of what every run owes, whatever the KEP.
const (
	RO01ForgetsV1 ID = "RO-01-forgets-v1"
)

var everyRunCatalogue = []Defect{
	{RO01ForgetsV1, "RO-01", inAPIServer, "release 1.2 neither serves nor decodes v1 of ballasts, which release 1.3 stores"},
}
