package registry

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Type is what the values of a domain are.
type Type string

const (
	// Choice is one of Values, and no other value.
	Choice Type = "choice"
	// Switch is true or false.
	Switch Type = "switch"
	// Number is a number from Min to Max. Whole says that it has no fraction.
	Number Type = "number"
	// Duration is a time.Duration from MinDuration to MaxDuration.
	Duration Type = "duration"
	// Share is a text such as 50%.
	Share Type = "share"
	// Member selects members, such as @cp1, @leader or @all.
	Member Type = "member"
	// Release is a release of the topology, by its name or relative, such as @next.
	Release Type = "release"
	// FaultFile names a fault of the scenario.
	FaultFile Type = "fault"
	// WorkloadFile names a workload.
	WorkloadFile Type = "workload"
	// NewName gives later steps the name of a What; a name is given once.
	NewName Type = "new name"
	// KnownName is the name that an earlier step has given a What.
	KnownName Type = "name"
	// Text is any text; Values are examples.
	Text Type = "text"
	// Group has the parameters of Fields.
	Group Type = "group"
)

// Domain says which values a parameter may have, and which of them are worth trying.
type Domain struct {
	Type Type
	// Values are all values of a Choice. Of each other type they are those to sweep: the bounds
	// that matter and some between, in ascending order.
	Values []any
	// Min and Max bound a Number, and Whole has it be an integer.
	Min, Max float64
	Whole    bool
	// MinDuration and MaxDuration bound a Duration.
	MinDuration, MaxDuration time.Duration
	// Unit of a Number, such as "writes per second"; empty for a count.
	Unit string
	// What a NewName or a KnownName is the name of, such as "population".
	What string
	// Single is whether a Member must mean one member. Otherwise it may be @all.
	Single bool
	// Many is whether the parameter is a list of such values, with Least to Most elements.
	Many        bool
	Least, Most int
	// Fields of a Group.
	Fields []Parameter
}

// OneOf is a choice.
func OneOf[T any](values ...T) Domain { return Domain{Type: Choice, Values: anys(values)} }

// Flag is true or false.
func Flag() Domain { return Domain{Type: Switch, Values: []any{false, true}} }

// Count is an integer from least to most; sweep are the values worth trying.
func Count(least, most int, sweep ...int) Domain {
	return Domain{Type: Number, Min: float64(least), Max: float64(most), Whole: true, Values: anys(sweep)}
}

// Rate is a number from least to most in a unit.
func Rate(unit string, least, most float64, sweep ...float64) Domain {
	return Domain{Type: Number, Unit: unit, Min: least, Max: most, Values: anys(sweep)}
}

// Between is a duration from least to most.
func Between(least, most time.Duration, sweep ...time.Duration) Domain {
	return Domain{Type: Duration, MinDuration: least, MaxDuration: most, Values: anys(sweep)}
}

// Percent is a share such as 50%.
func Percent(sweep ...string) Domain { return Domain{Type: Share, Values: anys(sweep)} }

// OneMember is a selector that means one member.
func OneMember() Domain {
	return Domain{Type: Member, Single: true, Values: []any{"@cp1", "@cp2", "@cp3", "@leader", "@coordinator"}}
}

// SomeMembers is a selector that may mean several members.
func SomeMembers() Domain {
	return Domain{Type: Member, Values: []any{"@cp1", "@cp2", "@cp3", "@leader", "@followers", "@coordinator", "@all"}}
}

// OneRelease is a release.
func OneRelease(relative ...string) Domain { return Domain{Type: Release, Values: anys(relative)} }

// AFault names a fault. Which fit is for the step to say: see scenario.Fits.
func AFault() Domain { return Domain{Type: FaultFile} }

// AWorkload names a workload.
func AWorkload() Domain { return Domain{Type: WorkloadFile} }

// Names gives a name to a what.
func Names(what string) Domain { return Domain{Type: NewName, What: what} }

// Known is the name of a what that an earlier step has made.
func Known(what string) Domain { return Domain{Type: KnownName, What: what} }

// AnyText is a text; examples are some that work.
func AnyText(examples ...string) Domain { return Domain{Type: Text, Values: anys(examples)} }

// Of has the parameters of fields.
func Of(fields ...Parameter) Domain { return Domain{Type: Group, Fields: fields} }

// List is the domain of a list of least to most such values.
func (d Domain) List(least, most int) Domain {
	d.Many, d.Least, d.Most = true, least, most
	return d
}

// Check is an error that says why a value is not in the domain. Names of members, faults,
// workloads and steps are known only together with a topology and a scenario, and are not looked up.
func (d Domain) Check(value any) error {
	if !d.Many {
		return d.checkOne(value)
	}
	list, ok := elements(value)
	if !ok {
		return fmt.Errorf("%v is no list", value)
	}
	if len(list) < d.Least || len(list) > d.Most {
		return fmt.Errorf("has %d elements, and must have %d to %d", len(list), d.Least, d.Most)
	}
	for _, one := range list {
		if err := d.checkOne(one); err != nil {
			return err
		}
	}
	return nil
}

func (d Domain) checkOne(value any) error {
	switch d.Type {
	case Choice:
		if !slices.ContainsFunc(d.Values, func(known any) bool { return fmt.Sprint(known) == fmt.Sprint(value) }) {
			return fmt.Errorf("%v is none of %s", value, texts(d.Values))
		}
	case Switch:
		if _, ok := value.(bool); !ok {
			return fmt.Errorf("%v is neither true nor false", value)
		}
	case Number:
		n, ok := number(value)
		if !ok || n < d.Min || n > d.Max || d.Whole && n != float64(int64(n)) {
			return fmt.Errorf("%v is no number from %v to %v", value, d.Min, d.Max)
		}
	case Duration:
		length, ok := value.(time.Duration)
		if !ok || length < d.MinDuration || length > d.MaxDuration {
			return fmt.Errorf("%v is no duration from %s to %s", value, d.MinDuration, d.MaxDuration)
		}
	case Group:
		fields, ok := value.(Values)
		if !ok {
			return fmt.Errorf("%v is no group of parameters", value)
		}
		return Check(d.Fields, fields)
	default:
		if fmt.Sprint(value) == "" {
			return fmt.Errorf("is empty")
		}
	}
	return nil
}

// String describes the domain in a reference, such as "duration, 1s to 1m0s".
func (d Domain) String() string {
	var s string
	switch d.Type {
	case Choice:
		s = "one of " + texts(d.Values)
	case Switch:
		s = "true or false"
	case Number:
		s = fmt.Sprintf("number, %s to %s", figure(d.Min), figure(d.Max))
		if d.Unit != "" {
			s += " " + d.Unit
		}
	case Duration:
		s = fmt.Sprintf("duration, %s to %s", short(d.MinDuration), short(d.MaxDuration))
	case Share:
		s = "share such as 50%"
	case Member:
		s = "selector of members"
		if d.Single {
			s = "selector of one member"
		}
	case NewName:
		s = "name of a new " + d.What
	case KnownName:
		s = "name of a " + d.What
	case FaultFile:
		s = "file in `faults/`"
	case WorkloadFile:
		s = "file in `workloads/`"
	case Group:
		s = "group"
	default:
		s = string(d.Type)
	}
	if d.Many {
		return "list of: " + s
	}
	return s
}

// figure is a number without an exponent.
func figure(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func texts(values []any) string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = fmt.Sprint(value)
		if out[i] == "" {
			out[i] = `""`
		}
	}
	return strings.Join(out, ", ")
}

func anys[T any](values []T) []any {
	var out []any
	for _, value := range values {
		out = append(out, value)
	}
	return out
}

func number(value any) (float64, bool) {
	switch n := value.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

func elements(value any) ([]any, bool) {
	switch list := value.(type) {
	case []any:
		return list, true
	case []string:
		return anys(list), true
	case []Values:
		return anys(list), true
	}
	return nil, false
}
