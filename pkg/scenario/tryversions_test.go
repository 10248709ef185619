package scenario

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/credential"
	"github.com/evenkeel/evenkeel/pkg/leak"
)

// trying is a cluster on which programs can be started with other versions.
type trying struct {
	*fakeCluster
	err error
}

func (c trying) TryVersions(_ context.Context, member, release string) (exit string, log []string, err error) {
	return "exit status 1", []string{member + " was started as " + release, "with secret-token-x"}, c.err
}

func TestTryVersions_RecordsHowTheProgramEnds(t *testing.T) {
	fake, h := newFake(), newHistory()
	fake.releases["cp1"] = "1.2 emulating 1.1"
	r := newRunner(fake, h)
	r.cluster = trying{fakeCluster: fake}
	r.exitLogs.masker = leak.NewMasker([]credential.Credential{credential.Token("the token", "secret-token-x")})
	for _, tc := range []struct {
		step TryVersions
		want string
	}{
		{TryVersions{Member: "@cp1", Emulate: "@next"}, "1.2 emulating 1.3"},
		{TryVersions{Member: "@cp1", Emulate: "@previous", Compatible: "@start"}, "1.2 emulating 1.1 compatible with 1.2"},
		{TryVersions{Member: "@cp1", Compatible: "99.0"}, "1.2 compatible with 99.0"},
	} {
		h.events = nil
		if err := r.tryVersions(t.Context(), "cp1", &tc.step); err != nil {
			t.Fatal(err)
		}
		got := h.events[0].VersionTrial
		if h.events[0].Member != "cp1" || got.Release != tc.want || got.Exit != "exit status 1" || !slices.Equal(got.Log, []string{"cp1 was started as " + tc.want, "with (masked)"}) {
			t.Errorf("%+v: %+v", tc.step, got)
		}
	}
	r.cluster = trying{fake, errors.New("no such program")}
	if err := r.tryVersions(t.Context(), "cp1", &TryVersions{Emulate: "99.0"}); err == nil {
		t.Error("a program that cannot be started is no error")
	}
}

func TestTryVersions_Validate(t *testing.T) {
	if err := (&TryVersions{Member: "@cp1"}).validate(); err == nil {
		t.Error("a step that tries no version is taken")
	}
	if why := cluster.Lacking(newFake(), cluster.TriesVersions); why == "" {
		t.Error("a cluster that cannot start programs tries versions")
	}
}
