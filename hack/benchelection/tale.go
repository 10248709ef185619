package main

import "time"

// moment is what a Lease says from one moment on.
type moment struct {
	// at is when that was seen.
	at time.Time
	// holder is empty where the Lease has no holder, or does not exist.
	holder string
	// renewed and lasts are what the holder, or a coordinator for it, has written.
	renewed time.Time
	lasts   time.Duration
}

// reign is a time in which one instance holds a Lease.
type reign struct {
	holder string
	// named is when the Lease was first seen with this holder. began is when the holder was
	// first seen to renew it: a coordinator names a holder that does not lead yet. Zero means
	// not yet.
	named, began time.Time
	// renewals are how often it was seen to renew, the first included.
	renewals int
	// left is when the Lease was first seen without this holder; zero means not yet.
	left time.Time
	// renewed is the last renewal, and expires when the Lease ends without another one,
	// both by the writer's clock, which is this machine's.
	renewed, expires time.Time
}

// tale is all that was seen of a Lease.
type tale struct {
	// coordinated is whether a coordinator names the holders. Else who is named has
	// taken the Lease by itself, and has begun with that.
	coordinated bool
	reigns      []*reign
	// held is whether the last reign lasts.
	held bool
}

// take adds what was seen next.
func (t *tale) take(m moment) {
	now := t.now()
	if now != nil && now.holder != m.holder {
		now.left = m.at
	}
	if m.holder == "" {
		t.held = false
		return
	}
	switch {
	case now == nil || now.holder != m.holder:
		now = &reign{holder: m.holder, named: m.at, renewed: m.renewed}
		if !t.coordinated {
			now.begin(m.at)
		}
		t.reigns, t.held = append(t.reigns, now), true
	case !now.renewed.Equal(m.renewed):
		now.renewed = m.renewed
		now.begin(m.at)
	}
	now.expires = m.renewed.Add(m.lasts)
}

func (r *reign) begin(at time.Time) {
	if r.began.IsZero() {
		r.began = at
	}
	r.renewals++
}

// now returns the current reign; nil if the Lease has no holder.
func (t *tale) now() *reign {
	if t == nil || !t.held {
		return nil
	}
	return t.reigns[len(t.reigns)-1]
}

// next is the first reign that began after a moment and is not of a holder; nil if
// there is none yet.
func (t *tale) next(after time.Time, not string) *reign {
	if t == nil {
		return nil
	}
	for _, r := range t.reigns {
		if r.holder != not && r.began.After(after) {
			return r
		}
	}
	return nil
}

// left is when a holder was last seen to have the Lease no more; zero if it was not.
func (t *tale) left(holder string) (at time.Time) {
	for _, r := range t.reigns {
		if r.holder == holder && r.left.After(at) {
			at = r.left
		}
	}
	return at
}
