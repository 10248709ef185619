package check

import "github.com/evenkeel/evenkeel/pkg/history"

// Read makes what a judge reads from of a history's reader.
func Read(r *history.Reader) Events { return reading{r} }

type reading struct{ reader *history.Reader }

func (r reading) Header() history.Header        { return r.reader.Header }
func (r reading) Next() (*history.Event, error) { return r.reader.Next() }
func (r reading) Damage() []string              { return r.reader.Damage }
