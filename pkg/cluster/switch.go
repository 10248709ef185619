package cluster

// Switch is a setting of a component that is SwitchOn, SwitchOff, or empty, which leaves it
// as the component has it by default.
type Switch string

// The values of a Switch, beside none.
const (
	SwitchOn  Switch = "on"
	SwitchOff Switch = "off"
)

// Valid is whether it is one of the values.
func (s Switch) Valid() bool { return s == "" || s == SwitchOn || s == SwitchOff }
