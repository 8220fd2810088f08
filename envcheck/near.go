package envcheck

// nearest is the greatest edit distance at which a name counts as a misspelled
// key. An undeclared name is printed only within it: names carry secrets too,
// such as the last line of a wrapped base64 text.
const nearest = 2

// Near returns the declared key that name is a misspelling of.
func Near(name string, declared []Key) (Key, bool) {
	for _, k := range declared {
		if near(name, string(k)) {
			return k, true
		}
	}
	return "", false
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// near reports whether name is a misspelling of known. Of a short name not half
// may differ.
func near(name, known string) bool {
	diff := len(name) - len(known)
	if diff > nearest || -diff > nearest || name == known {
		return false
	}
	d := distance(name, known)
	return d <= nearest && 2*d < len(known)
}
