package main

import "math/big"

// plain is election by a Lease that the first instance to write it takes. All instances
// are equally likely to be first, since all of them try in the same interval.
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
