package fact_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// A gap of a recorder that the format does not know is damage, which leaves no requirement
// a verdict, instead of those alone that rely on the recorder.
func TestSources_AreAllKnownToTheFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	w, err := history.Create(path, history.Header{Provider: "local", Distribution: "reference"}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range fact.Sources {
		w.Record(history.Event{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{Source: string(s), Message: "something was missed"}})
	}
	if err := w.Close(history.End{Complete: true}); err != nil {
		t.Fatal(err)
	}
	r, err := history.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) || len(r.Damage) > 0 {
		t.Errorf("gaps of the recorders are damage: %v (%v)", r.Damage, err)
	}
}

func TestEtcdSilent_IsWhileTheRecorderOfEtcdHeardNothing(t *testing.T) {
	delayed := func(from, to int64, source string) history.Event {
		return history.Event{Kind: history.KindRecorderDelayed, From: from, At: to, RecorderDelayed: &history.RecorderDelayed{Source: source}}
	}
	h := observed(delayed(2*s, 4*s, string(fact.Etcd)), delayed(5*s, 7*s, string(fact.Readyz)))
	truths(t, "etcd is silent", h.EtcdSilent(), map[int64]fact.Truth{2: fact.No, 6: fact.Yes, 9: fact.No, 12: fact.No})
}
