package release

import (
	"fmt"
	"slices"
	"strings"
)

// Emulating is how the release behaves while it emulates an older one (KEP-4330): it serves
// and stores what the older one does, and has the features of that. What it can decode stays
// that of the release itself. An empty name emulates nothing.
//
// compatible is the oldest release that has to be able to read what is stored
// (--min-compatibility-version): everything is stored in the newest version, up to the
// emulated release's own, that the compatible one decodes. Empty means the release before the
// emulated one, as in Kubernetes.
//
// It is an error if the release is older than the emulated one, or cannot decode a version
// that the emulated one serves, or if compatible is newer than what is emulated or can read
// none of the versions.
func (r Release) Emulating(name, compatible string) (Release, error) {
	if name == "" && compatible == "" {
		return r, nil
	}
	emulated := r
	if name != "" {
		var err error
		if emulated, err = r.emulated(name); err != nil {
			return Release{}, err
		}
	}
	out := emulated
	out.Name, out.Emulates = r.Name, emulated.Name
	out.Resources = slices.Clone(emulated.Resources)
	for i, resource := range out.Resources {
		own := r.find(resource.Group, resource.Resource)
		for _, version := range resource.Served {
			if !slices.Contains(own.Decodable, version) {
				return Release{}, fmt.Errorf("release %s cannot emulate %s: it cannot read %s in %s, which %[2]s serves", r.Name, emulated.Name, resource.Resource, version)
			}
		}
		out.Resources[i].Decodable = own.Decodable
	}
	if compatible == "" {
		return out, nil
	}
	return out.compatibleWith(compatible)
}

// emulated finds the release to emulate, which the release must not be older than.
func (r Release) emulated(name string) (Release, error) {
	found, err := Lookup(name)
	if err != nil {
		return Release{}, fmt.Errorf("--emulated-version: %w", err)
	}
	if newer(found.Name, r.Name) {
		return Release{}, fmt.Errorf("--emulated-version %s is newer than the release %s, which can emulate only itself and older ones", name, r.Name)
	}
	return found, nil
}

// compatibleWith has everything stored in a version that another release decodes.
func (r Release) compatibleWith(name string) (Release, error) {
	reader, err := Lookup(name)
	if err != nil {
		return Release{}, fmt.Errorf("--min-compatibility-version: %w", err)
	}
	if newer(reader.Name, r.Emulates) {
		return Release{}, fmt.Errorf("--min-compatibility-version %s is newer than %s, whose behavior the release has", name, r.Emulates)
	}
	r.Compatible = reader.Name
	for i, resource := range r.Resources {
		stored, ok := storedFor(resource, r.Emulates, reader)
		if !ok || !slices.Contains(resource.Decodable, stored) {
			return Release{}, fmt.Errorf("release %s has no version of %s that it and %s can read: --min-compatibility-version must be newer", r.Name, resource.Resource, name)
		}
		r.Resources[i].Encoding = stored
	}
	return r, nil
}

// storedFor is the version that the newest release up to a bound stores which the reader decodes.
func storedFor(resource Resource, bound string, reader Release) (string, bool) {
	decodable := reader.find(resource.Group, resource.Resource).Decodable
	all := All()
	for _, one := range slices.Backward(all) {
		if newer(one.Name, bound) {
			continue
		}
		if stored := one.find(resource.Group, resource.Resource).Encoding; slices.Contains(decodable, stored) {
			return stored, true
		}
	}
	return "", false
}

// newer is whether a release comes after another one in the table.
func newer(a, b string) bool {
	names := Names()
	return slices.Index(names, a) > slices.Index(names, b)
}

// Behaves is the name of the release whose behavior this one has: its own, or that which it
// emulates.
func (r Release) Behaves() string {
	if r.Emulates != "" {
		return r.Emulates
	}
	return r.Name
}

// CompatibleWith is the name of the oldest release that can read what is stored: that of
// --min-compatibility-version, or the release before the one whose behavior this one has.
func (r Release) CompatibleWith() string {
	if r.Compatible != "" {
		return r.Compatible
	}
	names := Names()
	return names[max(0, slices.Index(names, r.Behaves())-1)]
}

// MinorOf is the second number of a release's name.
func MinorOf(name string) string {
	_, minor, _ := strings.Cut(name, ".")
	return minor
}
