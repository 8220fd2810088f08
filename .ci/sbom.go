//go:build ignore

// Sbom prints the software bill of materials of a program as SPDX 2.3, in JSON: the modules that its files for all
// platforms say they were built from.
//
//	sbom PROGRAM CREATED FILE...
//
// CREATED is the time of the commit, so that two builds of one commit print the same.
package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

type document struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []module       `json:"packages"`
	Files         []file         `json:"files"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type module struct {
	ID        string     `json:"SPDXID"`
	Name      string     `json:"name"`
	Version   string     `json:"versionInfo"`
	Location  string     `json:"downloadLocation"`
	Analyzed  bool       `json:"filesAnalyzed"`
	Concluded string     `json:"licenseConcluded"`
	Declared  string     `json:"licenseDeclared"`
	Copyright string     `json:"copyrightText"`
	Purpose   string     `json:"primaryPackagePurpose,omitempty"`
	Checksums []checksum `json:"checksums,omitempty"`
	External  []external `json:"externalRefs"`
}

type file struct {
	ID        string     `json:"SPDXID"`
	Name      string     `json:"fileName"`
	Checksums []checksum `json:"checksums"`
	Concluded string     `json:"licenseConcluded"`
	Copyright string     `json:"copyrightText"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type external struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const none = "NOASSERTION"

func main() {
	log.SetFlags(0)
	log.SetPrefix("sbom: ")
	if len(os.Args) < 4 {
		log.Fatal("usage: sbom PROGRAM CREATED FILE...")
	}
	program, files := os.Args[1], os.Args[3:]
	created, err := time.Parse(time.RFC3339, os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	doc := document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT",
		Creation: creation{created.UTC().Format(time.RFC3339), []string{"Tool: startgate-sbom"}},
	}
	modules := map[string]module{}
	var self module
	digest := sha256.New()
	for _, name := range files {
		info, err := buildinfo.ReadFile(name)
		if err != nil {
			log.Fatal(err)
		}
		self = moduleOf(info.Main.Path, info.Main.Version, "")
		self.Declared, self.Purpose = "Apache-2.0", "APPLICATION"
		std := moduleOf("stdlib", strings.TrimPrefix(info.GoVersion, "go"), "")
		modules[std.ID] = std
		for _, d := range info.Deps {
			if d.Replace != nil {
				d = d.Replace
			}
			m := moduleOf(d.Path, d.Version, d.Sum)
			modules[m.ID] = m
		}
		f := fileOf(name)
		io.WriteString(digest, f.Checksums[0].Value)
		doc.Files = append(doc.Files, f)
		doc.Relationships = append(doc.Relationships, relationship{f.ID, "GENERATED_FROM", self.ID})
	}
	doc.Name = program + "-" + self.Version
	doc.Namespace = "https://" + self.Name + "/spdx/" + program + "-" + hex.EncodeToString(digest.Sum(nil))
	doc.Relationships = append(doc.Relationships, relationship{doc.ID, "DESCRIBES", self.ID})
	doc.Packages = []module{self}
	for _, m := range modules {
		doc.Packages = append(doc.Packages, m)
		doc.Relationships = append(doc.Relationships, relationship{self.ID, "DEPENDS_ON", m.ID})
	}
	slices.SortFunc(doc.Packages[1:], func(a, b module) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(doc.Relationships, func(a, b relationship) int {
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.Type, b.Type), strings.Compare(a.To, b.To))
	})
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		log.Fatal(err)
	}
}

// unfit are characters that an SPDX identifier must not have.
var unfit = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func id(kind string, parts ...string) string {
	return "SPDXRef-" + kind + "-" + unfit.ReplaceAllString(strings.Join(parts, "-"), "-")
}

// moduleOf is a package of the document. sum is the h1: hash of go.sum, which is of a tree of files and of no archive,
// and so no checksum in SPDX's sense: it goes along as a package URL's qualifier would.
func moduleOf(path, version, sum string) module {
	location := none
	if path != "stdlib" && strings.HasPrefix(version, "v") {
		location = fmt.Sprintf("https://proxy.golang.org/%s/@v/%s.zip", escaped(path), version)
	}
	m := module{
		ID: id("Package", path, version), Name: path, Version: version, Location: location,
		Concluded: none, Declared: none, Copyright: none,
		External: []external{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
	}
	if sum != "" {
		m.External = append(m.External, external{"OTHER", "go-sum", sum})
	}
	return m
}

// escaped is a module's path as the module proxy spells it (go.dev/ref/mod#goproxy-protocol).
func escaped(path string) string {
	var b strings.Builder
	for _, r := range path {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func fileOf(name string) file {
	content, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return file{
		ID: id("File", name), Name: "./" + name, Concluded: "Apache-2.0", Copyright: none,
		Checksums: []checksum{{"SHA256", hex.EncodeToString(sum[:])}},
	}
}
