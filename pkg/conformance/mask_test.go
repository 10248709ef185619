package conformance

import "testing"

// masked is a report without times and digests, in which a campaign that was disturbed may
// differ from one that was not.
func masked(t testing.TB, rep *Report) string {
	t.Helper()
	r := *rep
	r.Plan, r.Journal, r.Began, r.Ended, r.Holds.Until = "", "", "", "", ""
	r.Lines, r.Requirements = nil, nil
	for _, line := range rep.Lines {
		tries := line.Tries
		line.Tries = nil
		for _, one := range tries {
			one.Run, one.Date, one.Bundle = "", "", ""
			line.Tries = append(line.Tries, one)
		}
		r.Lines = append(r.Lines, line)
	}
	for _, req := range rep.Requirements {
		breaches := req.Breaches
		req.Breaches = nil
		for _, b := range breaches {
			b.Bundle = ""
			req.Breaches = append(req.Breaches, b)
		}
		r.Requirements = append(r.Requirements, req)
	}
	raw, err := r.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
