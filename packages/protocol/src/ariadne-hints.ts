/** The version of the hints' texts; a changed word needs a new one, since it changes what a trial is. */
export const hintVersion = "h1";
