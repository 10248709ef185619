package release

import (
	"fmt"
	"slices"
	"testing"
)

func TestIs(t *testing.T) {
	for _, tc := range []struct {
		release, version string
		want             bool
	}{
		{"v1.36.3", "v1.36.3", true}, {"1.36.3", "v1.36.3", true}, {"v1.36.3", "v1.36.3+k3s1", true}, {"v1.36.3", "v1.36.3-eks-1234", true},
		{"1.2", "v1.2.0", true}, {"v1.36", "v1.36.3", true}, {"v1.36", "v1.36.3-gke.1", true}, {"v1.37.0-rc.1", "v1.37.0-rc.1", true},
		{"v1.36.3", "v1.36.30", false}, {"v1.3", "v1.36.3", false}, {"v1.36.0", "v1.36.0-rc.1", false}, {"v1.36", "v1.36.0-beta.2", false},
		{"v1.36.3", "v1.36.3.1", false}, {"v1.36.3", "", false}, {"", "", false}, {"v1.36.3", "v1.35.4", false},
		{"v1.36.3+k3s1", "v1.36.3+k3s1", true}, {"v1.36.3+k3s1", "v1.36.3+k3s2", false}, {"v1.36.3-eks-1", "v1.36.3-eks-12", false},
		{"tip", "tip", true}, {"tip", "v1.36.3", false},
	} {
		if got := Is(tc.release, tc.version); got != tc.want {
			t.Errorf("%s is %s: %v", tc.version, tc.release, got)
		}
	}
}

func TestCompare_OrdersOldToNew(t *testing.T) {
	want := []string{"tip", "1.2", "v1.9.0", "v1.10.0", "v1.36.0-alpha.3", "v1.36.0-beta.2", "v1.36.0-rc.1", "v1.36.0", "v1.36.3"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Compare)
	if !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
	for _, pair := range [][2]string{{"v1.36.3", "v1.36.3-eks-1234"}, {"v1.36.3", "1.36.3+k3s1"}, {"v1.36", "v1.36.0"}, {"a", "b"}} {
		if Compare(pair[0], pair[1]) != 0 {
			t.Errorf("%s and %s are not the same", pair[0], pair[1])
		}
	}
	if Valid("tip") || Valid("") || !Valid("1.2") {
		t.Error(fmt.Sprint("valid: ", Valid("tip"), Valid(""), Valid("1.2")))
	}
}
