package explore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// drawing draws the values of one gene.
type drawing struct {
	g    *Grammar
	rand *rand.Rand
	st   *state
	// prefix makes the names that steps give unique in the schedule.
	prefix string
	gene   *Gene
	count  int
	// detailed has more of what may be left out be given: a fault of all requests, or a state that
	// is often there, shows less than that of a single one.
	detailed bool
}

const (
	// optionalShare of the parameters that may be left out are given.
	optionalShare = 0.25
	detailedShare = 0.5
	// sweptShare of the numbers and lengths are those that the registry names; the others are
	// anywhere between.
	sweptShare = 0.7
	// mostInList bounds lists beside what their domains say.
	mostInList = 3
	// faultTries is how many faults are drawn until one fits a step.
	faultTries = 12
	// lengthUnit is what lengths are rounded to.
	lengthUnit = 100 * time.Millisecond
)

// values draws those of some parameters; ok is false where one that must be there cannot be.
func (d *drawing) values(parameters []registry.Parameter, preset registry.Values) (out registry.Values, ok bool) {
	out = registry.Values{}
	share := optionalShare
	if d.detailed {
		share = detailedShare
	}
	variant := ""
	if variants := registry.Variants(parameters); len(variants) > 0 {
		variant = variants[d.rand.IntN(len(variants))]
	}
	for _, p := range parameters {
		if _, given := preset[p.Name]; given && p.Variant != "" {
			variant = p.Variant
		}
	}
	for _, p := range parameters {
		if value, given := preset[p.Name]; given {
			out[p.Name] = value
			continue
		}
		if p.Variant != "" && p.Variant != variant {
			continue
		}
		// Of what can be played at members, the member is what matters; it is left out only
		// where the step has a preset without it.
		wanted := !p.Optional || p.Domain.Type == registry.Member && preset == nil || d.rand.Float64() < share
		if !wanted {
			continue
		}
		value, drawn := d.value(p.Domain)
		if drawn {
			out[p.Name] = value
		} else if !p.Optional {
			return nil, false
		}
	}
	return out, true
}

func (d *drawing) value(domain registry.Domain) (value any, ok bool) {
	if !domain.Many {
		return d.one(domain)
	}
	least, most := max(domain.Least, 1), max(min(domain.Most, mostInList), domain.Least, 1)
	var out []any
	for range least + d.rand.IntN(most-least+1) {
		value, ok := d.one(domain)
		if ok && !slices.ContainsFunc(out, func(one any) bool { return reflect.DeepEqual(one, value) }) {
			out = append(out, value)
		}
	}
	return out, len(out) >= least
}

func (d *drawing) one(domain registry.Domain) (value any, ok bool) {
	switch domain.Type {
	case registry.Number:
		return d.number(domain), true
	case registry.Duration:
		return d.length(domain), true
	case registry.Member:
		return d.pick(d.selectors(domain))
	case registry.FaultFile:
		return d.fault()
	case registry.WorkloadFile:
		if len(d.g.Workloads) == 0 {
			return nil, false
		}
		return d.g.Workloads[d.rand.IntN(len(d.g.Workloads))].Name, true
	case registry.NewName:
		d.count++
		return fmt.Sprintf("%s%s%d", initials(domain.What), d.prefix, d.count), true
	case registry.KnownName:
		return d.pick(anys(d.st.names[domain.What]))
	case registry.Group:
		return d.values(domain.Fields, nil)
	case registry.Switch:
		return d.rand.IntN(2) == 1, true
	default: // the others list their values
		return d.pick(domain.Values)
	}
}

// initials are those of words.
func initials(words string) string {
	var b strings.Builder
	for _, word := range strings.Fields(words) {
		b.WriteByte(word[0])
	}
	return b.String()
}

// pick draws one of the values, as files have it.
func (d *drawing) pick(values []any) (value any, ok bool) {
	if len(values) == 0 {
		return nil, false
	}
	value = values[d.rand.IntN(len(values))]
	if v := reflect.ValueOf(value); v.Kind() == reflect.String {
		return v.String(), true
	}
	return value, true
}

func anys(values []string) (out []any) {
	for _, value := range values {
		out = append(out, value)
	}
	return out
}

// selectors are those of the domain, and the members beyond the three that it names.
func (d *drawing) selectors(domain registry.Domain) []any {
	out := slices.Clone(domain.Values)
	for i := range d.st.settings.Members {
		if selector := fmt.Sprintf("@cp%d", i+1); !slices.Contains(out, any(selector)) {
			out = append(out, selector)
		}
	}
	return slices.DeleteFunc(out, func(selector any) bool {
		_, _, ok := d.st.members(selector.(string))
		return !ok
	})
}

func (d *drawing) number(domain registry.Domain) any {
	if len(domain.Values) > 0 && d.rand.Float64() < sweptShare {
		return domain.Values[d.rand.IntN(len(domain.Values))]
	}
	low, high := domain.Min, domain.Max
	if len(domain.Values) > 0 {
		low, high = number(domain.Values[0]), number(domain.Values[len(domain.Values)-1])
	}
	value := low + d.rand.Float64()*(high-low)
	if domain.Whole {
		return int(math.Round(value))
	}
	return math.Round(value*10) / 10
}

// length is a duration, as likely from one order of magnitude as from another.
func (d *drawing) length(domain registry.Domain) time.Duration {
	if len(domain.Values) > 0 && d.rand.Float64() < sweptShare {
		return domain.Values[d.rand.IntN(len(domain.Values))].(time.Duration)
	}
	least, most := max(domain.MinDuration, lengthUnit), domain.MaxDuration
	if n := len(domain.Values); n > 0 {
		most = min(most, domain.Values[n-1].(time.Duration))
	}
	most = max(most, least)
	value := float64(least) * math.Pow(float64(most)/float64(least), d.rand.Float64())
	return min(max(time.Duration(value).Round(lengthUnit), least), domain.MaxDuration)
}

// fault draws one that the step may name: which one fits is tried.
func (d *drawing) fault() (value any, ok bool) {
	if len(d.g.Faults) == 0 {
		return nil, false
	}
	d.count++
	name := fmt.Sprintf("f%s%d", d.prefix, d.count)
	defer func(before bool) { d.detailed = before }(d.detailed)
	d.detailed = true
	for range faultTries {
		entry := d.faultEntry()
		values, ok := d.values(entry.Parameters, atStepsMember(entry))
		if ok && entry.Settle != nil {
			entry.Settle(values)
		}
		if !ok || d.g.Lacks(entry, values) != "" {
			continue
		}
		raw, err := entry.Compose(name, values)
		if err != nil {
			continue
		}
		parsed, err := fault.Parse(name, raw)
		takes := effects[d.gene.Step].takes
		if err != nil || takes != nil && !takes(parsed) || !d.fits(name, parsed) {
			continue
		}
		if d.gene.Faults == nil {
			d.gene.Faults = map[string]FaultGene{}
		}
		d.gene.Faults[name] = FaultGene{Entry: entry.Name, Values: values, File: raw, Broad: broadKind(parsed), Whole: whole(parsed)}
		return name, true
	}
	return nil, false
}

// faultEntry draws a kind of fault: as often one whose values are drawn as a file that ships, of which
// there are many more.
func (d *drawing) faultEntry() *registry.Entry {
	swept := slices.DeleteFunc(slices.Clone(d.g.Faults), func(e registry.Entry) bool { return len(e.Parameters) == 0 })
	if len(swept) > 0 && d.rand.IntN(2) == 0 {
		return &swept[d.rand.IntN(len(swept))]
	}
	return &d.g.Faults[d.rand.IntN(len(d.g.Faults))]
}

// atStepsMember has a fault be at the member of the step.
func atStepsMember(entry *registry.Entry) registry.Values {
	out := registry.Values{}
	for _, p := range entry.Parameters {
		if p.Domain.Type == registry.Member {
			out[p.Name] = fault.StepMember
		}
	}
	return out
}

// fits is whether the step would do all that the fault says: it is asked with the least that it
// needs.
func (d *drawing) fits(name string, f *fault.Fault) bool {
	entry, err := d.g.step(d.gene.Step)
	if err != nil {
		return false
	}
	values := registry.Values{}
	for _, p := range entry.Parameters {
		switch {
		case p.Domain.Type == registry.FaultFile && p.Domain.Many:
			values[p.Name] = []any{name}
		case p.Domain.Type == registry.FaultFile:
			values[p.Name] = name
		case p.Optional && p.Domain.Type != registry.Member || p.Variant != "":
		default:
			simple := drawing{g: &Grammar{}, rand: rand.New(rand.NewPCG(1, 1)), st: d.st, gene: &Gene{}}
			if value, ok := simple.value(p.Domain); ok {
				values[p.Name] = value
			}
		}
	}
	raw, err := entry.Compose("", values)
	return err == nil && d.g.Fits(raw, f) == nil
}

// broadKind is whether a fault keeps components from running, or cuts members off.
func broadKind(f *fault.Fault) bool {
	switch f.Type {
	case fault.TypeHTTP, fault.TypeKeys, fault.TypeAdmission:
		return false
	case fault.TypeNetwork:
		return f.Action != "delay"
	}
	return true
}

// whole is whether a fault hits all of a member, or its etcd: at all members at once, no majority
// would be left with which the first of them that is healed becomes ready.
func whole(f *fault.Fault) bool {
	return slices.Contains(f.Components, cluster.Whole) || slices.Contains(f.Components, cluster.Etcd) || len(f.Components) == 0
}

// kindOf is the kind of a fault's entry.
func kindOf(entry string) string {
	kind, _, _ := strings.Cut(entry, "/")
	return kind
}
