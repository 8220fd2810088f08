package probe

import (
	"strconv"
	"strings"
	"time"
)

// infoField returns the value of one field of an INFO reply. Whole lines are
// compared: "loading:0" also stands in "async_loading:0".
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if field, value, ok := strings.Cut(line, ":"); ok && field == name {
			return strings.TrimRight(value, "\r\n")
		}
	}
	return ""
}

// infoLoading reports whether INFO persistence says that the data set is not
// all there. A server that has no such field makes no statement. From 7.0 a
// replica that loads in the background serves old data meanwhile.
func infoLoading(info string) bool {
	return infoField(info, "loading") == "1" || infoField(info, "async_loading") == "1"
}

// infoSavingFails reports whether the server last failed to save. With
// stop-writes-on-bgsave-error no it takes writes all the same.
func infoSavingFails(info string) bool {
	return infoField(info, "rdb_last_bgsave_status") == "err" || infoField(info, "aof_last_write_status") == "err"
}

func infoProgress(info string) Progress {
	percent, err := strconv.ParseFloat(infoField(info, "loading_loaded_perc"), 64)
	if err != nil || !(percent >= 0 && percent <= 100) { // NaN is neither
		return Progress{}
	}
	eta := infoNumber(info, "loading_eta_seconds")
	return Progress{Known: true, Percent: int(percent), ETA: time.Duration(eta) * time.Second}
}

// infoNumber is 0 when there is no such number.
func infoNumber(info, name string) int {
	n, err := strconv.ParseUint(infoField(info, name), 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}
