package pki

import "time"

const (
	// certificateLife is how long a cluster's certificates are valid. Clusters
	// live for hours; the rest is for those that a user forgot.
	certificateLife = 30 * 24 * time.Hour
	// clockSkew is how far certificates reach back.
	clockSkew = time.Hour
)
