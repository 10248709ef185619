// Package docs reads the documents of this repository, so that tests can hold what they
// say against what there is: the commands in them, the files they name, their links, and
// the findings against the published reports.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Document is a Markdown file.
type Document struct {
	// File is its path from the root of the repository, with slashes.
	File string
	Text string
}

// Block is a fenced block of a document.
type Block struct {
	// Language is what stands behind the fence, such as sh.
	Language string
	// Line is that of the first line in the block, from 1.
	Line int
	// Lines are without the indentation of the fence.
	Lines []string
}

// Root gives the root of the repository from a folder in it.
func Root(from string) (string, error) {
	at, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if filepath.Dir(at) == at {
			return "", fs.ErrNotExist
		}
		at = filepath.Dir(at)
	}
}

// skipped are the folders below the root that hold no documents of the repository.
var skipped = []string{".git", "_out", "bin", "node_modules"}

// Read gives all documents below the root, by their paths.
func Read(root string) ([]Document, error) {
	var all []Document
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains(skipped, name) || entry.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".md" || !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all = append(all, Document{File: filepath.ToSlash(name), Text: string(text)})
		return nil
	})
	return all, err
}

var fence = regexp.MustCompile("^( *)```([a-z]*)$")

// Blocks gives the fenced blocks, also those in lists.
func (d Document) Blocks() []Block {
	var blocks []Block
	var open *Block
	indentation := ""
	for i, line := range strings.Split(d.Text, "\n") {
		match := fence.FindStringSubmatch(line)
		switch {
		case open == nil && match != nil:
			indentation = match[1]
			open = &Block{Language: match[2], Line: i + 2}
		case open != nil && match != nil && match[2] == "":
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.Lines = append(open.Lines, strings.TrimPrefix(line, indentation))
		}
	}
	return blocks
}

// Prose gives the document with its blocks emptied, line by line.
func (d Document) Prose() string {
	lines := strings.Split(d.Text, "\n")
	for _, block := range d.Blocks() {
		for i := range block.Lines {
			lines[block.Line-1+i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

var code = regexp.MustCompile("`([^`\n]+)`")

// Code gives what stands between backticks outside of blocks.
func (d Document) Code() []string {
	var all []string
	for _, match := range code.FindAllStringSubmatch(d.Prose(), -1) {
		all = append(all, match[1])
	}
	return all
}

var heading = regexp.MustCompile(`(?m)^#+ (.*)$`)

// notInAnchors is what GitHub leaves out of the anchor of a heading.
var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)

// Anchors gives the anchors of all headings, as GitHub makes them.
func (d Document) Anchors() []string {
	var all []string
	for _, match := range heading.FindAllStringSubmatch(d.Prose(), -1) {
		all = append(all, strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-"))
	}
	return all
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Links gives the targets of all links and pictures.
func (d Document) Links() []string {
	var all []string
	for _, match := range link.FindAllStringSubmatch(d.Prose(), -1) {
		all = append(all, match[1])
	}
	return all
}
