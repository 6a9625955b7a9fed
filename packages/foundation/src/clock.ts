/** Where time comes from: integer milliseconds since the Unix epoch. Pure code takes one as an argument. */
export type Clock = () => number;
