package apiserver

import (
	"reflect"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/release"
)

func emulating(t *testing.T, binary, emulated string) release.Release {
	t.Helper()
	r, err := release.Lookup(binary)
	if err == nil {
		r, err = r.Emulating(emulated, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPlantEmulation_ChangesOnlyWhatEmulates(t *testing.T) {
	all := defects.Of(defects.EV06StoresAsBinary, defects.EV02HidesRemoved)
	for _, alone := range release.All() {
		if got := plantEmulation(alone, all); !reflect.DeepEqual(got, alone) {
			t.Errorf("%s emulates nothing and became %+v", alone.Name, got)
		}
	}
	if got := plantEmulation(emulating(t, "1.3", "1.2"), defects.Of(defects.EV02HidesRemoved)).Ballasts().Served; slices.Contains(got, release.V1alpha1) {
		t.Errorf("it serves %v", got)
	}
	if got := plantEmulation(emulating(t, "1.3", "1.1"), defects.Of(defects.EV02HostsNewer)).Ballasts().Served; !slices.Contains(got, release.V1) || !slices.Contains(got, release.V1alpha1) || len(got) != 3 {
		t.Errorf("it serves %v", got)
	}
	if got := plantEmulation(emulating(t, "1.3", "1.2"), defects.Of(defects.EV06SaysAsBinary)); got.Migrations().Encoding != release.V1 || got.Ballasts().Encoding != release.V1beta1 {
		t.Errorf("it stores %+v", got)
	}
	r := emulating(t, "1.3", "1.2")
	if got := plantEmulation(r, nil); !reflect.DeepEqual(got, r) {
		t.Errorf("without a defect %+v became %+v", r, got)
	}
	if got := plantEmulation(r, all).Ballasts().Encoding; got != release.V1 || r.Ballasts().Encoding != release.V1beta1 {
		t.Errorf("it stores %s, and the release itself %s", got, r.Ballasts().Encoding)
	}
}

func TestPlantEmulation_ForgetsWhatItIsCompatibleWith(t *testing.T) {
	r, err := release.Lookup("1.3")
	if err == nil {
		r, err = r.Emulating("1.3", "1.1")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, forgets := range []defects.Set{defects.Of(defects.EV01ForgetsOlder), defects.Of(defects.EV07ForgetsOlder)} {
		if got := plantEmulation(r, forgets).Ballasts().Encoding; got != release.V1 || r.Ballasts().Encoding != release.V1beta1 {
			t.Errorf("it stores %s, and the release itself %s", got, r.Ballasts().Encoding)
		}
		if one := emulating(t, "1.3", "1.2"); !reflect.DeepEqual(plantEmulation(one, forgets), one) {
			t.Error("one that was told nothing has something to forget")
		}
	}
}

func TestOwnBallasts(t *testing.T) {
	if own, ok := ownBallasts(emulating(t, "1.3", "1.1")); !ok || own.Encoding != release.V1 {
		t.Errorf("the binary stores %+v, %v", own, ok)
	}
	if _, ok := ownBallasts(emulating(t, "1.3", "1.3")); ok {
		t.Error("a release that emulates itself emulates another one")
	}
}
