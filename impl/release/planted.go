package release

import "github.com/evenkeel/evenkeel/impl/defects"

// With is the release with the defects that are about what a release knows.
func (r Release) With(planted defects.Set) Release {
	if planted.Has(defects.RO01ForgetsV1) && r.Name == "1.2" {
		return row(r.Name, r.Coordination, ballasts([]string{V1beta1, V1alpha1}, []string{V1alpha1, V1beta1}, V1beta1), V1beta1, r.Discovery) // defect: RO-01-forgets-v1
	}
	return r
}
