package explore

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/registry"
)

// vary gives the genes of a schedule with something changed. A gene without a step stands for one
// that is to be drawn. What is not valid in its new place is left out as the schedule is built.
func (c *Composer) vary(random *rand.Rand, parent, other *Schedule, settings *Settings) []Gene {
	genes := opened(parent.Genes)
	switch random.IntN(8) {
	case 0: // one more
		genes = slices.Insert(genes, random.IntN(len(genes)+1), Gene{})
	case 1: // another one in the place of one
		if len(genes) > 0 {
			genes[random.IntN(len(genes))] = Gene{}
		}
	case 2: // one less, and one more at the end
		if len(genes) > 0 {
			at := random.IntN(len(genes))
			genes = slices.Delete(genes, at, at+1)
		}
		genes = append(genes, Gene{})
	case 3: // the beginning of one, and the end of another
		genes = genes[:random.IntN(len(genes)+1)]
		tail := renamed(opened(other.Genes), genes)
		genes = append(genes, tail[random.IntN(len(tail)+1):]...)
	case 4: // the same once more
		if len(genes) > 0 {
			genes = append(genes, renamed(genes[random.IntN(len(genes)):], genes)...)
		}
	case 5: // the same with other settings
		drawn := c.settings(random)
		drawn.Members, drawn.Release = settings.Members, settings.Release
		*settings = drawn
	case 6: // one with another parameter
		if len(genes) > 0 {
			genes[random.IntN(len(genes))].alter = true
		}
	case 7: // one again at the same object, with another parameter
		if len(genes) > 0 {
			at := random.IntN(len(genes))
			again := renamed(genes[at:at+1], genes)
			again[0].alter = true
			genes = slices.Insert(genes, at+1+random.IntN(len(genes)-at), again...)
		}
	}
	if len(genes) == 0 {
		genes = []Gene{{}, {}}
	}
	return genes
}

// opened are copies of the genes without what each schedule begins and ends with, which building adds
// again: the definition of its backend, and a hold.
func opened(genes []Gene) []Gene {
	out := make([]Gene, 0, len(genes))
	for _, gene := range genes {
		gene.Values, gene.Faults = maps.Clone(gene.Values), maps.Clone(gene.Faults)
		out = append(out, gene)
	}
	if n := len(out); n > 0 && out[n-1].Step == "hold" {
		out = out[:n-1]
	}
	if len(out) > 0 && out[0].Step == "registerAPI" && reflect.DeepEqual(out[0].Values, backendDefinition()) {
		out = out[1:]
	}
	return out
}

// ownNames are those that genes give: of faults, and of what steps make.
func ownNames(genes []Gene) []string {
	var out []string
	for _, gene := range genes {
		out = slices.AppendSeq(out, maps.Keys(gene.Faults))
		if name, ok := gene.Values["name"].(string); ok && gene.Step != "setBackendBehavior" {
			out = append(out, name)
		}
		short, _ := gene.Values["shortNames"].([]any)
		for _, name := range short {
			out = append(out, name.(string))
		}
	}
	return out
}

// renamed are copies of genes whose names of their own are others, so that they can be played in
// one schedule with the genes beside: those may be of the same descent, and copies of these.
func renamed(genes, beside []Gene) []Gene {
	own, taken := ownNames(genes), ownNames(beside)
	suffix := "b"
	for slices.ContainsFunc(own, func(name string) bool { return slices.Contains(taken, name+suffix) }) {
		suffix += "b"
	}
	given := map[string]string{}
	for _, name := range own {
		given[name] = name + suffix
	}
	var out []Gene
	for _, gene := range genes {
		copied := Gene{Step: gene.Step, Values: renamedValues(gene.Values, given), When: gene.When}
		for name, f := range gene.Faults {
			if copied.Faults == nil {
				copied.Faults = map[string]FaultGene{}
			}
			// By its name its policy is known to API servers.
			if file, err := named(f.File, given[name]); err == nil {
				f.File = file
			}
			copied.Faults[given[name]] = f
		}
		if gene.When != nil && gene.When.Migrated != nil {
			when, migrated := *gene.When, *gene.When.Migrated
			if to, ok := given[migrated.Migration]; ok {
				migrated.Migration = to
			}
			when.Migrated = &migrated
			copied.When = &when
		}
		out = append(out, copied)
	}
	return out
}

func renamedValues(values registry.Values, given map[string]string) registry.Values {
	out := registry.Values{}
	for key, value := range values {
		out[key] = renamedValue(value, given)
	}
	return out
}

func renamedValue(value any, given map[string]string) any {
	switch one := value.(type) {
	case string:
		if to, ok := given[one]; ok {
			return to
		}
	case []any:
		out := make([]any, 0, len(one))
		for _, each := range one {
			out = append(out, renamedValue(each, given))
		}
		return out
	case registry.Values:
		return renamedValues(one, given)
	}
	return value
}
