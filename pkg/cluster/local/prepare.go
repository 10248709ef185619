package local

import (
	"context"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Prepare implements cluster.ReleasePreparer: whatever a release needs to run shows
// when its command lines are made.
func (c *local) Prepare(ctx context.Context, releases []string) error {
	for _, release := range releases {
		if !cluster.HasRelease(c.releases, release) {
			return fmt.Errorf("there is no release %q; there are: %s", release, strings.Join(c.releases, ", "))
		}
		for _, component := range c.upwards() {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			if _, err := c.distribution.command(component, c.members[0].site, release); err != nil {
				return fmt.Errorf("release %s cannot be run: %w", release, err)
			}
		}
	}
	return nil
}
