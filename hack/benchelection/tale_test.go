package main

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return noon.Add(time.Duration(seconds * float64(time.Second)))
}

// A leader is named, takes the Lease up, is seen twice, crashes, and is followed by one
// that a coordinator names and that takes it up a little later.
func TestCoordinatedTale(t *testing.T) {
	tale := &tale{coordinated: true}
	if tale.now() != nil || tale.next(noon, "") != nil {
		t.Error("there is a leader before anything was seen")
	}
	tale.take(moment{at(1), "a", at(1), 5 * time.Second})
	if now := tale.now(); now == nil || !now.began.IsZero() {
		t.Fatalf("who is only named has begun: %+v", now)
	}
	tale.take(moment{at(1.2), "a", at(1), 5 * time.Second}) // the coordinator names a preferred holder
	if !tale.now().began.IsZero() {
		t.Error("a write that is no renewal was taken for one")
	}
	tale.take(moment{at(2), "a", at(1.9), 15 * time.Second})
	tale.take(moment{at(4), "a", at(3.9), 15 * time.Second})
	first := tale.now()
	if !first.began.Equal(at(2)) || first.renewals != 2 || !first.expires.Equal(at(18.9)) {
		t.Errorf("%+v", first)
	}
	tale.take(moment{at(19), "b", at(19), 5 * time.Second})
	if tale.next(at(5), "a") != nil {
		t.Error("who has not begun leads")
	}
	tale.take(moment{at(19.5), "b", at(19.4), 15 * time.Second})
	if r := tale.next(at(5), "a"); r == nil || r.holder != "b" || !r.began.Equal(at(19.5)) || !r.named.Equal(at(19)) {
		t.Errorf("%+v", r)
	}
	if tale.next(at(20), "a") != nil {
		t.Error("a reign from before was taken for a later one")
	}
}

func TestPlainTale(t *testing.T) {
	tale := &tale{}
	tale.take(moment{at(1), "a", at(0.9), 15 * time.Second})
	if now := tale.now(); now == nil || !now.began.Equal(at(1)) || now.renewals != 1 {
		t.Fatalf("who takes a Lease has begun: %+v", now)
	}
	tale.take(moment{at: at(3)})
	if tale.now() != nil {
		t.Error("a Lease that was given up is held")
	}
	tale.take(moment{at(4), "a", at(4), 15 * time.Second})
	if len(tale.reigns) != 2 {
		t.Error("who comes back after having given up has not begun again")
	}
}
