package check

import (
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// declaredKinds are the kinds of breaches that each law declares.
func declaredKinds() map[requirement.ID][]string {
	kinds := map[requirement.ID][]string{}
	for _, k := range keps {
		for _, row := range k.Rows() {
			kinds[row.ID] = row.Kinds
		}
	}
	return kinds
}

func TestDeviations_NameKindsThatTheirLawsDeclare(t *testing.T) {
	kinds := declaredKinds()
	for _, d := range requirement.Deviations() {
		if !slices.Contains(kinds[d.Requirement], d.Kind) {
			t.Errorf("the deviation %s explains breaches of kind %q, and the law of %s declares %q", d.ID, d.Kind, d.Requirement, kinds[d.Requirement])
		}
	}
}

// A kind that no deviation names is left over from a deviation that was removed.
func TestDeviations_ExplainEachKindThatALawDeclares(t *testing.T) {
	kinds := declaredKinds()
	for _, id := range law.SortedKeys(kinds) {
		for _, kind := range kinds[id] {
			if !slices.ContainsFunc(requirement.Deviations(), func(d requirement.Deviation) bool { return d.Requirement == id && d.Kind == kind }) {
				t.Errorf("the law of %s declares breaches of kind %q, which no documented deviation explains", id, kind)
			}
		}
	}
}
