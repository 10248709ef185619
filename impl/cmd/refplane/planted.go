package main

import (
	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/release"
)

// emulating is how a release takes the versions that it is to emulate and to be compatible with.
func emulating(r release.Release, set defects.Set) func(emulated, compatible string) (release.Release, error) {
	if !set.Has(defects.EV08TakesAny) {
		return r.Emulating
	}
	return func(emulated, compatible string) (release.Release, error) {
		if emulates, err := r.Emulating(emulated, compatible); err == nil {
			return emulates, nil
		}
		return r, nil // defect: EV-08-takes-any-version
	}
}
