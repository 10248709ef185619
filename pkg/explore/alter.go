package explore

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// altered is a gene with another value of one of its parameters, or with another state that it waits
// for. Where none is found that is valid in its place, it stays as it is.
func (b *building) altered(gene Gene) Gene {
	gene.alter = false
	entry, err := b.c.Grammar.step(gene.Step)
	if err != nil || len(entry.Parameters) == 0 {
		return gene
	}
	for range geneTries {
		b.count++
		other := Gene{Step: gene.Step, Values: maps.Clone(gene.Values), Faults: maps.Clone(gene.Faults), When: gene.When}
		if b.rand.Float64() < waitedShare {
			other.When = nil
			if gene.When == nil {
				b.wait(entry, &other)
			}
		} else if !b.redraw(entry, &other) {
			continue
		}
		if b.fits(entry, &other) && b.st.clone().take(b.c.Grammar, &other) {
			return other
		}
	}
	return gene
}

// redraw gives one parameter of a gene another value, or leaves it out; ok is false where that changes
// nothing. The names that the gene gives stay.
func (b *building) redraw(entry *registry.Entry, gene *Gene) (ok bool) {
	p := entry.Parameters[b.rand.IntN(len(entry.Parameters))]
	before, given := gene.Values[p.Name]
	switch {
	case p.Domain.Type == registry.NewName:
		return false
	case given && p.Optional && b.rand.IntN(2) == 0:
		delete(gene.Values, p.Name)
	default:
		d := drawing{g: b.c.Grammar, rand: b.rand, st: b.st, prefix: fmt.Sprintf("-%d-%d-", b.s.Index, b.count), gene: gene}
		value, drawn := d.value(p.Domain)
		if !drawn || reflect.DeepEqual(value, before) {
			return false
		}
		gene.Values[p.Name] = value
	}
	named := faultNames(entry.Parameters, gene.Values)
	maps.DeleteFunc(gene.Faults, func(name string, _ FaultGene) bool { return !slices.Contains(named, name) })
	return true
}

// fits is whether the step of a gene is valid by itself, and does all that its faults say.
func (b *building) fits(entry *registry.Entry, gene *Gene) bool {
	if _, err := gene.node(b.c.Grammar); err != nil {
		return false
	}
	raw, err := entry.Compose("", gene.Values)
	if err != nil {
		return false
	}
	for name, f := range gene.Faults {
		parsed, err := fault.Parse(name, f.File)
		if err != nil || b.c.Grammar.Fits(raw, parsed) != nil {
			return false
		}
	}
	return true
}

// faultNames are those of the faults that values name.
func faultNames(parameters []registry.Parameter, values registry.Values) (out []string) {
	for _, p := range parameters {
		value, given := values[p.Name]
		if !given || p.Domain.Type != registry.FaultFile {
			continue
		}
		for _, one := range list(p.Domain, value) {
			out = append(out, one.(string))
		}
	}
	return out
}
