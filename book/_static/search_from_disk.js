// A page that was opened from disk may not read its neighbours: the search then lists titles, without excerpts and errors.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
