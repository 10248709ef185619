package conformance

import (
	"context"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/attest"
)

// MismatchError is a campaign that cannot be signed because its files do not match.
type MismatchError struct {
	Dir          string
	Verification *Verification
}

// Error names the first problem.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s does not match, and is not signed: %s", e.Dir, strings.Join(e.Verification.Problems[:1], ""))
}

// Sign verifies a campaign, and signs the digests of report, plan and journal and the
// verdicts: that is all that there is, since the report names each bundle by digest.
func Sign(ctx context.Context, dir, keyFile, harness string) (keyID string, err error) {
	v, err := Verify(ctx, dir, VerifyOptions{Harness: harness})
	if err != nil {
		return "", err
	}
	if !v.Matches() {
		return "", &MismatchError{dir, v}
	}
	return attest.Sign(ctx, dir, keyFile, attest.NewCampaignStatement(v.Digests, v.Predicate()))
}
