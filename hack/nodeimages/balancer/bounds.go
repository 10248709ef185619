package main

import "time"

const (
	// followInterval is how often the files are looked at again. They change
	// once, when kind knows the members, and kubeadm waits for that.
	followInterval = 200 * time.Millisecond

	// These hold where a file does not say otherwise; they are what the
	// balancer that the files are made for does then.
	defaultConnectTimeout = 5 * time.Second
	defaultCheckTimeout   = 3 * time.Second
	defaultCheckInterval  = 2 * time.Second
	defaultThreshold      = 1
)
