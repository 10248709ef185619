package main

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// registry remembers whether images can be pulled, so that a closed network is
// found out once.
type registry struct{ closed bool }

// pull tries to pull an image, and tells whether Docker has it now.
func (r *registry) pull(ctx context.Context, image string) bool {
	if r.closed {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, pullWhole)
	defer cancel()
	// Docker tries for long before it gives up; a registry that can be reached
	// has said something by then.
	silent := time.AfterFunc(pullAnswer, cancel)
	defer silent.Stop()
	pull := exec.CommandContext(ctx, "docker", "pull", image)
	var said strings.Builder
	out, err := pull.StdoutPipe()
	if err == nil {
		pull.Stderr = &said
		err = pull.Start()
	}
	if err == nil {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			silent.Stop()
		}
		err = pull.Wait()
	}
	if err == nil {
		fmt.Printf("pulled %s\n", image)
		return true
	}
	why := strings.TrimSpace(said.String())
	if why == "" {
		why = fmt.Sprintf("no registry answered within %s (%v)", pullAnswer, err)
	}
	r.closed = !refused(why)
	fmt.Printf("%s cannot be pulled, so it is built: %s\n", image, why)
	return false
}

// refused is whether a registry was reached, and said that it has no such image.
func refused(said string) bool {
	said = strings.ToLower(said)
	for _, sign := range []string{"manifest unknown", "not found: manifest", "repository does not exist", "not found"} {
		if strings.Contains(said, sign) {
			return true
		}
	}
	return false
}
