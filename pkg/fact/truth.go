package fact

// Truth is a value of three-valued logic.
type Truth int8

// The truth values, ordered so that And is the minimum and Or the maximum.
const (
	No Truth = iota
	Unknown
	Yes
)

// Of makes a Truth of a condition that is known.
func Of(known bool) Truth {
	if known {
		return Yes
	}
	return No
}

// Not is the negation; that of Unknown is Unknown.
func (t Truth) Not() Truth { return Yes - t }

func (t Truth) String() string { return [...]string{"no", "unknown", "yes"}[t] }
