package cluster

import "cmp"

// usualPace is how many objects a second migrations are taken to come to where no topology
// says: the rate of the reference's topologies.
const usualPace = 25

// Pace is how many objects a second storage version migrations come to, roughly.
func (s Settings) Pace() float64 { return cmp.Or(s.MigrationPace, s.MigrationRate, usualPace) }
