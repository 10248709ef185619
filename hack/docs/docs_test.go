package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository gives its root and its documents.
func repository(t *testing.T) (string, []Document) {
	t.Helper()
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	all, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	return root, all
}

func document(t *testing.T, file string) Document {
	t.Helper()
	_, all := repository(t)
	i := slices.IndexFunc(all, func(d Document) bool { return d.File == file })
	if i < 0 {
		t.Fatalf("there is no %s", file)
	}
	return all[i]
}

func TestBlocks_FindsThoseInLists(t *testing.T) {
	d := Document{File: "x.md", Text: "1. a\n\n   ```sh\n   make e2e   # comment\n   ```\n\n```yaml\na: b\n```\n"}
	blocks := d.Blocks()
	if len(blocks) != 2 || blocks[0].Language != "sh" || blocks[0].Line != 4 || blocks[0].Lines[0] != "make e2e   # comment" || blocks[1].Language != "yaml" {
		t.Fatalf("got %+v", blocks)
	}
	if strings.Contains(d.Prose(), "make") {
		t.Errorf("the prose has the block: %q", d.Prose())
	}
	commands, err := d.Commands()
	if err != nil || len(commands) != 1 || commands[0].Where != "x.md:4" || !slices.Equal(commands[0].Words, []string{"make", "e2e"}) {
		t.Errorf("got %+v, %v", commands, err)
	}
}

func TestCommands_SplitsAsAShell(t *testing.T) {
	d := Document{File: "x.md", Text: "```sh\nA=b make x RELEASES=\"v1 v2\" '#no'\ngo run ./x > y.yaml # z\n```\n"}
	got, err := d.Commands()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got[0].Variables, []string{"A=b"}) || !slices.Equal(got[0].Words, []string{"make", "x", "RELEASES=v1 v2", "#no"}) {
		t.Errorf("got %+v", got[0])
	}
	if got[1].Output != "y.yaml" || len(got[1].Words) != 3 {
		t.Errorf("got %+v", got[1])
	}
	for _, line := range []string{"a | b", "a; b", "a && b", "a 'b", "A=b"} {
		if _, err := (Document{Text: "```sh\n" + line + "\n```\n"}).Commands(); err == nil {
			t.Errorf("%q was accepted", line)
		}
	}
}

func TestAnchors_AreThoseOfGitHub(t *testing.T) {
	got := Document{Text: "# A b\n## Provider external: your own cluster\n### 3. `x` — y, z\n"}.Anchors()
	if want := []string{"a-b", "provider-external-your-own-cluster", "3-x--y-z"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A link to a file or heading that is not there leads nowhere.
func TestDocuments_LinksLeadSomewhere(t *testing.T) {
	root, all := repository(t)
	anchors := map[string][]string{}
	for _, d := range all {
		anchors[d.File] = d.Anchors()
	}
	for _, d := range all {
		for _, to := range d.Links() {
			if strings.Contains(to, "://") {
				continue
			}
			file, anchor, _ := strings.Cut(to, "#")
			target := d.File
			if file != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(d.File), file))
				if _, err := os.Stat(filepath.Join(root, target)); err != nil {
					t.Errorf("%s links to %s, which is not there", d.File, to)
					continue
				}
			}
			if anchor != "" && !slices.Contains(anchors[target], anchor) {
				t.Errorf("%s links to %s, and %s has no such heading", d.File, to, target)
			}
		}
	}
}

// A path between backticks that begins with a folder of the repository has to be there.
func TestDocuments_FilesThatTheyNameExist(t *testing.T) {
	root, all := repository(t)
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, entry := range entries {
		if entry.IsDir() && !slices.Contains(skipped, entry.Name()) {
			folders = append(folders, entry.Name())
		}
	}
	for _, d := range all {
		for _, span := range d.Code() {
			top, rest, inside := strings.Cut(span, "/")
			if !inside || !slices.Contains(folders, top) || placeholder(span) || strings.ContainsAny(rest, " …") {
				continue
			}
			if found, err := filepath.Glob(filepath.Join(root, span)); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there", d.File, span)
			}
		}
	}
}

// placeholder is whether a path stands for one that the reader chooses.
func placeholder(path string) bool {
	for _, part := range []string{"YOURS", "NAME", "FOLDER", "BUNDLE", "mine", "theirs", "<"} {
		if strings.Contains(path, part) {
			return true
		}
	}
	return false
}

// README.md is read in a hurry.
func TestReadme_IsShort(t *testing.T) {
	const most = 150
	if lines := strings.Count(document(t, "README.md").Text, "\n"); lines > most {
		t.Errorf("README.md has %d lines, and may have %d: move what is for one kind of reader to that folder's README.md", lines, most)
	}
	const largest = 200_000
	root, _ := repository(t)
	picture, err := os.Stat(filepath.Join(root, "reports", "page.png"))
	if err != nil {
		t.Fatal(err)
	}
	if picture.Size() > largest {
		t.Errorf("the picture takes %d bytes, and may take %d", picture.Size(), largest)
	}
}
