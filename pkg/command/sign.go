package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/attest"
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/verify"
)

func newSign() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "sign BUNDLE --key FILE",
		Short: "Sign a bundle with a key of your own, offline",
		Long: `Sign verifies a bundle, and signs the digests of all its files and its verdicts:
an in-toto statement in a DSSE envelope, ` + bundle.SignatureFile + ` in the bundle. Of a campaign it
signs report, plan and journal, which name all bundles by digest, and the verdicts.
The key is an ed25519 one in PEM, from ` + "`evenkeel keygen`" + ` or openssl, which only
you can read. It is needed nowhere else, and never goes into a bundle.`,
		Example: `  evenkeel keygen ~/evenkeel.key
  evenkeel sign _out/rolling-upgrade --key ~/evenkeel.key
  evenkeel verify _out/rolling-upgrade --key ~/evenkeel.key.pub`,
		Args: exactlyOne("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if key == "" {
				return fmt.Errorf("name the key to sign with: --key FILE; `evenkeel keygen FILE` makes one")
			}
			if err := unsigned(dir); err != nil {
				return err
			}
			if conformance.Is(dir) {
				return signCampaign(cmd, dir, key)
			}
			outcome, err := verify.Bundle(cmd.Context(), dir, verify.Options{Harness: Version()})
			if err != nil {
				return fmt.Errorf("%s cannot be signed: %w", dir, err)
			}
			if !outcome.Matches() {
				if err := tellOutcome(cmd.OutOrStdout(), dir, outcome); err != nil {
					return err
				}
				return &exit.Error{Code: exit.Fail, Err: fmt.Errorf("%s does not match, and is not signed", dir)}
			}
			// The digests are those that were just verified, not those of a moment later.
			id, err := attest.Sign(cmd.Context(), dir, key, attest.NewStatement(outcome.Digests, outcome.Report))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is signed by %s\n", dir, id)
			return err
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the private key to sign with")
	return cmd
}

// unsigned makes sure that no signature is overwritten, or made wrong by a change
// of what it is about.
func unsigned(dir string) error {
	_, err := os.Lstat(filepath.Join(dir, bundle.SignatureFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s is signed already: remove its %s first", dir, bundle.SignatureFile)
}

func newKeygen() *cobra.Command {
	return &cobra.Command{
		Use:   "keygen FILE",
		Short: "Make a key to sign bundles with, and its public half beside it",
		Args:  exactlyOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := attest.GenerateKey(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The key %s is in %s: keep it to yourself.\nPublish %s, by which readers check what it signs.\n",
				id, args[0], args[0]+attest.PublicKeySuffix)
			return err
		},
	}
}
