package e2eframework

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	folderMode = 0o755
	fileMode   = 0o644
)

// ExportLogs implements support.E2EClusterProvider: it copies the log of each
// component, <member>-<component>.log, as far as it is written, into a folder,
// which it makes. Files of the same name are replaced.
func (c *Cluster) ExportLogs(ctx context.Context, dest string) error {
	up, err := c.running()
	if err != nil {
		return err
	}
	if dest == "" {
		return fmt.Errorf("the logs of cluster %s cannot be exported without a folder to put them in", up.name)
	}
	count, err := copyFiles(ctx, dest, up.LogDir())
	if err == nil && count == 0 {
		err = fmt.Errorf("there are none in %s", up.LogDir())
	}
	if err != nil {
		return fmt.Errorf("cannot export the logs of cluster %s to %s: %w", up.name, dest, err)
	}
	return nil
}

// copyFiles copies the regular files below a folder and tells their number.
func copyFiles(ctx context.Context, to, from string) (int, error) {
	count := 0
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch target := filepath.Join(to, relative); {
		case entry.IsDir():
			return os.MkdirAll(target, folderMode)
		case entry.Type().IsRegular():
			count++
			return copyFile(target, path)
		default:
			return nil
		}
	})
	return count, err
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
