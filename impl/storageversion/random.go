package storageversion

import (
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// random is the injected source of randomness, made safe for concurrent use.
type random struct {
	mu     sync.Mutex
	source *rand.Rand
}

func newRandom(source *rand.Rand) *random {
	if source == nil {
		var seed [32]byte
		// Never fails, as of Go 1.24.
		_, _ = crand.Read(seed[:])
		source = rand.New(rand.NewChaCha8(seed))
	}
	return &random{source: source}
}

// uuid returns a random (version 4) UUID.
func (r *random) uuid() string {
	r.mu.Lock()
	hi, lo := r.source.Uint64(), r.source.Uint64()
	r.mu.Unlock()
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&0xffffffffffff)
}

func (r *random) shuffle(words []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.source.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
}

func (r *random) float() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.Float64()
}

// backoff is the pause before an attempt that follows a number of failed ones:
// it doubles from first to most, and luck, between 0 and 1, scatters it over the
// upper half, so that competitors do not stay in step.
func backoff(failed int, first, most time.Duration, luck float64) time.Duration {
	pause := first
	for i := 1; i < failed && pause < most; i++ {
		pause *= 2
	}
	pause = min(pause, most)
	return pause/2 + time.Duration(luck*float64(pause)/2)
}
