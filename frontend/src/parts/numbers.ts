// Numbers as people write and read them.

export const number = (value: number) => value.toLocaleString("en-US");

export const plural = (value: number, noun: string) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

/** An amount with its currency, if there is one. */
export const money = (value: number, currency = "") =>
  `${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} ${currency}`.trim();

/** What was typed, as a number; as it is where it is none, so that the service can say what is wrong with it. */
export const typed = (text: string) => Number.isNaN(Number(text)) ? text : Number(text);
