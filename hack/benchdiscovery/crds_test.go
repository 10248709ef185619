package main

import (
	"strings"
	"testing"
)

func TestSpecimens(t *testing.T) {
	names, kinds, twice := map[string]bool{}, map[string]bool{}, 0
	const many = 4000
	for number := range many {
		crd := specimen(number)
		if names[crd.Name] {
			t.Fatalf("two CRDs are called %s", crd.Name)
		}
		names[crd.Name] = true
		// An API server takes no two of a kind, or of a short name, in a group.
		for _, name := range append([]string{crd.Spec.Names.Kind}, crd.Spec.Names.ShortNames...) {
			in := crd.Spec.Group + " " + name
			if kinds[in] {
				t.Errorf("%s is there twice", in)
			}
			kinds[in] = true
		}
		if crd.Name != crd.Spec.Names.Plural+"."+crd.Spec.Group || !strings.HasSuffix(crd.Spec.Group, "."+vendorDomain) {
			t.Errorf("a CRD of the group %s is called %s", crd.Spec.Group, crd.Name)
		}
		if len(crd.Spec.Versions) == 2 {
			twice++
		}
	}
	if wanted := expect(many).resources; wanted != many+twice {
		t.Errorf("%d resources are expected of %d CRDs, %d of which have two versions", wanted, many, twice)
	}
	if twice < many/4 || twice > many/2 {
		t.Errorf("%d of %d CRDs have two versions", twice, many)
	}
}
