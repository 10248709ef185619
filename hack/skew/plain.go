package main

import "math/big"

// plain is election by a Lease that whoever comes first takes. Which of the
// instances that is, is taken for equally likely: all of them try in the same
// interval.
type plain struct{}

func (plain) vacant(p plane) map[int]*big.Rat {
	present := p.present()
	out := map[int]*big.Rat{}
	for _, i := range present {
		out[i] = big.NewRat(1, int64(len(present)))
	}
	return out
}

func (plain) alike() bool { return true }

func (plain) settled(_ plane, leader int) int { return leader }
