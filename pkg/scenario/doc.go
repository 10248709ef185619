// Package scenario plays what a file describes against a control plane: the
// steps in order, with the recorders and the traffic around them. It judges
// nothing; what comes of it is a history.
package scenario
