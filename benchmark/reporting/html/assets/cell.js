"use strict";
// Back to the list as it was filtered (the index puts its address into ours), and `u` does the same.
const back = document.getElementById("back");
const from = new URLSearchParams(location.hash.slice(1)).get("from");
if (from) back.href = "../index.html#" + from;
document.addEventListener("keydown", (event) => {
  if (event.key === "u" && !event.ctrlKey && !event.metaKey && !event.altKey) back.click();
});
