// The forms of the browsable API send JSON: before DRF's ajax-form.js submits a form, this writes
// its body. A PATCH has the fields that differ from the stored values, other methods have all
// fields except optional ones without a value.
// ajax-form.js writes the response into the same window, where this script then runs again.
"use strict";

(() => {
  const textOf = (control) => control.value.replace(/\r\n?/g, "\n");

  // The JSON of a control's value.
  function jsonOf(control) {
    if (control.dataset.kind === "boolean") {
      return String(control.checked);
    }
    const text = textOf(control);
    if (control.dataset.kind === "json" && text.trim()) {
      JSON.parse(text);
      return text; // As written, because numbers in JavaScript lose digits.
    }
    return text || control.dataset.empty === "text" ? JSON.stringify(text) : "null";
  }

  function isChanged(control) {
    const now = control.dataset.kind === "boolean" ? String(control.checked) : textOf(control);
    return now !== control.dataset.present.replace(/\r\n?/g, "\n");
  }

  function bodyOf(form, method) {
    const members = [];
    for (const control of form.querySelectorAll("[data-kind]")) {
      if (method === "PATCH" && !isChanged(control)) {
        continue;
      }
      let json;
      try {
        json = jsonOf(control);
      } catch (error) {
        control.setCustomValidity(error.message);
        control.reportValidity();
        control.addEventListener("input", () => control.setCustomValidity(""), { once: true });
        throw error;
      }
      if (json !== "null" || method === "PATCH") {
        members.push(JSON.stringify(control.name) + ": " + json);
      }
    }
    return "{" + members.join(", ") + "}";
  }

  // In the capturing phase, so that it runs before DRF's handler.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.matches("[data-query]")) {
      const empty = [...form.elements].filter((control) => control.name && !control.value);
      empty.forEach((control) => { control.disabled = true; });
      setTimeout(() => empty.forEach((control) => { control.disabled = false; }));
    }
    if (form.matches("[data-json]") && form.querySelector("[data-kind]")) {
      const method = (event.submitter && event.submitter.dataset.method) || form.dataset.method;
      try {
        form.querySelector("[data-override=content]").value = bodyOf(form, method);
      } catch {
        event.preventDefault();
        event.stopImmediatePropagation();
      }
    }
  }, true);

  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-examples]")) {
      return;
    }
    const values = JSON.parse(event.target.value);
    for (const control of event.target.closest("details").querySelectorAll("[data-kind]")) {
      const value = values[control.name];
      const isNested = control.dataset.kind === "json" && value !== undefined && value !== null;
      control.value = isNested ? JSON.stringify(value, null, 2) : value ?? "";
    }
  });
})();
