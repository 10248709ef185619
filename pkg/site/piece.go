package site

import (
	"html/template"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// piece is HTML of the site's own in the tree of a document.
type piece struct {
	ast.BaseBlock

	html template.HTML
}

var kindPiece = ast.NewNodeKind("Piece")

// Kind implements ast.Node.
func (*piece) Kind() ast.NodeKind { return kindPiece }

// Dump implements ast.Node.
func (p *piece) Dump(source []byte, level int) { ast.DumpHelper(p, source, level, nil, nil) }

// pieces renders them as they are.
type pieces struct{}

// piecesPriority is that of goldmark's own renderers of extensions.
const piecesPriority = 500

func withPieces() goldmark.Option {
	return goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(pieces{}, piecesPriority)))
}

// RegisterFuncs implements renderer.NodeRenderer.
func (pieces) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(kindPiece, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if p, is := n.(*piece); is && entering {
			_, err := w.WriteString(string(p.html))
			return ast.WalkContinue, err
		}
		return ast.WalkContinue, nil
	})
}
